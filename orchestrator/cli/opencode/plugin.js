// The plugin through which opencode tells paw of its turns. It calls `HOOK hook opencode EVENT` with the fields of a
// turn.Event on standard input, and waits for that, so that a turn's begin and end are known before anything else happens. opencode's session
// is a conversation here. Nothing here may throw: an exception would fail the user's prompt.
// It is also the way in which paw gives prompts and answers to opencode: paw writes a file, which the plugin takes away.
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"

const hook = @HOOK@
const listens = @LISTENS@ // file of the launch: not empty while orders are taken
const inbox = @INBOX@ // file in which paw puts an order, or nothing to see whether it is taken
const state = @STATE@ // file in which the plugin tells what paw reads at any time
const pause = 200 // milliseconds between two looks at the inbox
const settlePatience = 10000 // milliseconds
const ownPatience = 60000 // milliseconds: without a word of the server opencode tries again after 30 s at most

// An opencode that the agent itself runs inherits this plugin, and must not report turns of its own.
const mine = process.env.PAW_OPENCODE_PID ??= String(process.pid)

const told = @TOLD@ // what state has
let folder // where the conversation of the last prompt goes on
let looks // timer of the looks at the inbox; after /move opencode calls the plugin once more, for another folder

const tell = (news) => {
  try {
    Object.assign(told, news)
    writeFileSync(state + ".new", JSON.stringify(told), { mode: 0o600 })
    renameSync(state + ".new", state)
  } catch {}
}

export const Paw = async ({ client, directory }) => {
  if (mine !== String(process.pid)) return {}
  folder ??= directory

  const children = new Map() // conversation -> whether it is a subagent's
  const turns = new Map() // conversation -> the turn in progress
  let current // the conversation used last

  const send = (event, data, seconds) => {
    try {
      execFileSync(hook, ["hook", "opencode", event], {
        input: JSON.stringify({ folder: directory, ...data }), stdio: ["pipe", "ignore", "ignore"], timeout: seconds * 1000,
      })
    } catch {}
  }
  const quietly = (f) => async (...args) => {
    try {
      await f(...args)
    } catch {}
  }
  const isChild = async (id) => {
    if (!children.has(id)) {
      const { data } = await client.session.get({ path: { id } })
      children.set(id, Boolean(data?.parentID))
    }
    return children.get(id)
  }

  const prompt = async ({ sessionID }, { message, parts }) => {
    if (await isChild(sessionID)) return
    current = sessionID
    folder = directory
    tell({ session: sessionID, answered: {} })
    const text = parts.filter((p) => p.type === "text" && !p.synthetic).map((p) => p.text).join("\n")
    if (turns.get(sessionID)?.settling) end(sessionID)
    const turn = turns.get(sessionID)
    if (!turn) turns.set(sessionID, { id: message.id })
    send("prompt", { conversation: sessionID, turnID: turn?.id ?? message.id, prompt: text, queued: Boolean(turn) }, @LONG@)
  }

  const end = (id) => {
    const turn = turns.get(id)
    if (!turn) return // idle comes after what was no prompt, too
    turns.delete(id)
    clearTimeout(turn.settling)
    // An Esc while opencode waits to retry after an API error, and a rejected permission, leave no error, but no finished
    // message either.
    const { answer, text, error, rejected } = turn
    const tellEnd = (event, data) => send(event, { conversation: id, turnID: turn.id, ...data }, @LONG@)
    if (error && error.name !== "MessageAbortedError")
      tellEnd("error", { errorType: [error.name, error.status].filter(Boolean).join(" "), message: error.message })
    else if (error || !answer?.finish || answer.finish === "tool-calls")
      tellEnd("interrupt", { message: !error && rejected ? "the user rejected a permission" : "" })
    else tellEnd("end", { message: answer.id === text?.id ? text.text : "" })
  }

  // Idle comes twice after an error or an Esc. A prompt in between is lost: opencode adds it to the work that it is about
  // to drop. So that nobody is told too early that it takes one, the second idle ends the turn. It is 0.1 s behind, on a busy
  // machine more than half a second; should it ever not come, the turn ends without it.
  const idle = (id) => {
    const turn = turns.get(id)
    if (!turn?.error || turn.settling) return end(id)
    turn.settling = setTimeout(quietly(() => turns.get(id) === turn && end(id)), settlePatience)
  }

  const ask = (event, id, message) => {
    send(event, { conversation: current ?? id, turnID: turns.get(current)?.id, message }, @SHORT@)
  }

  const on = {
    "session.created": ({ info }) => children.set(info.id, Boolean(info.parentID)),
    "session.updated": ({ info }) => {
      if (info.id !== told.session || info.directory === folder) return
      folder = info.directory
      send("session_start", { source: "resume", conversation: info.id, folder }, @SHORT@)
    },
    "message.updated": ({ info }) => {
      const turn = turns.get(info.sessionID)
      if (turn && info.role === "assistant") turn.answer = { id: info.id, finish: info.finish }
    },
    "message.part.updated": ({ part }) => {
      const turn = turns.get(part.sessionID)
      if (turn && part.type === "text" && !part.synthetic) turn.text = { id: part.messageID, text: part.text }
    },
    "session.error": ({ sessionID, error }) => {
      const turn = turns.get(sessionID)
      if (turn) turn.error ??= { name: error?.name, message: error?.data?.message, status: error?.data?.statusCode }
    },
    "session.status": ({ sessionID, status }) => {
      const turn = turns.get(sessionID)
      if (turn && status?.type === "retry" && status.next - Date.now() > ownPatience)
        send("limit", { conversation: sessionID, turnID: turn.id, message: status.message, limit: { until: new Date(status.next) } }, @SHORT@)
    },
    "session.idle": ({ sessionID }) => {
      tell({ asked: told.asked.filter((one) => one.sessionID !== sessionID) }) // an Esc answers none
      idle(sessionID)
    },
    // A subagent's question is the user's to answer, too.
    "permission.asked": (p) => {
      const { id, sessionID, permission, patterns, always } = p
      tell({ asked: [...told.asked, { id, sessionID, permission, patterns, always }] })
      ask("input", p.sessionID, [p.permission, p.patterns?.[0]].filter(Boolean).join(": "))
    },
    "permission.replied": (p) => {
      tell({ asked: told.asked.filter((one) => one.id !== p.requestID), answered: { ...told.answered, [p.requestID]: p.reply } })
      const turn = turns.get(p.sessionID)
      if (turn && p.reply === "reject") turn.rejected = true
      ask("answered", p.sessionID)
    },
    "question.asked": (q) => ask("input", q.sessionID, q.questions?.[0]?.question),
    "question.replied": (q) => ask("answered", q.sessionID),
    "question.rejected": (q) => {
      const turn = turns.get(q.sessionID)
      if (turn) turn.rejected = true
      ask("answered", q.sessionID)
    },
  }

  // What paw gives is for the conversation that was prompted last.
  const api = async (method, path, body) => {
    const { data, error } = await client._client[method]({ url: path, body, headers: { "Content-Type": "application/json" } })
    if (error) throw error
    return data
  }
  const obey = async ({ permission, reply, prompt, mode }) => {
    if (permission) return api("post", `/permission/${permission}/reply`, { reply })
    const session = `/session/${told.session}`
    const [last] = await api("get", `${session}/message?limit=1`)
    const shown = (await api("get", "/agent")).find((one) => one.name.toLowerCase() === mode.toLowerCase())
    await api("post", "/tui/select-session", { sessionID: told.session })
    await api("post", `${session}/prompt_async`, { agent: shown?.name ?? last?.info.agent, parts: [{ type: "text", text: prompt }] })
  }
  // Who renames the file first has the order: paw takes one back that waits for too long.
  const look = quietly(async () => {
    if (!existsSync(inbox)) return
    const taken = inbox + ".taken"
    renameSync(inbox, taken)
    const order = readFileSync(taken, "utf8")
    rmSync(taken)
    if (order) await obey(JSON.parse(order))
  })
  if (!looks && existsSync(listens)) {
    writeFileSync(listens, mine)
    looks = setInterval(look, pause).unref()
  }

  send("session_start", { source: "startup" }, @SHORT@) // a conversation exists only from the first prompt on
  return {
    "chat.message": quietly(prompt),
    event: quietly(({ event }) => on[event.type]?.(event.properties)),
    dispose: quietly(() => {
      for (const [id, turn] of turns) if (turn.settling) end(id)
      send("session_end", { conversation: current, turnID: turns.get(current)?.id, source: "exit" }, @SHORT@)
    }),
  }
}
