// The plugin through which opencode tells paw of its turns. It calls `HOOK hook opencode EVENT` with the fields of a
// turn.Event on standard input, and waits for that, so that a turn's begin and end are known before anything else happens. opencode's session
// is a conversation here. Nothing here may throw: an exception would fail the user's prompt.
import { execFileSync } from "node:child_process"
import { existsSync, writeFileSync } from "node:fs"

const hook = @HOOK@
const settlePatience = 10000 // milliseconds
const ownPatience = 60000 // milliseconds: without a word of the server opencode tries again after 30 s at most

// An opencode that the agent itself runs inherits this plugin, and must not report turns of its own.
const mine = process.env.PAW_OPENCODE_PID ??= String(process.pid)

let prompted // the conversation of the last prompt; after /move opencode calls the plugin once more, for another folder

export const Paw = async ({ client, serverUrl, directory }) => {
  if (mine !== String(process.pid)) return {}

  // Where opencode listens is known only now.
  const serve = () => {
    try {
      const password = process.env.@PASSWORD@
      if (password && existsSync(@SERVER@)) writeFileSync(@SERVER@, JSON.stringify({ url: String(serverUrl), password, session: prompted }), { mode: 0o600 })
    } catch {}
  }
  serve()

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
    current = prompted = sessionID
    serve()
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
    const answer = turn.answer?.id === turn.text?.id ? turn.text?.text : undefined
    send("end", {
      conversation: id, turnID: turn.id, finish: turn.answer?.finish, error: turn.error, rejected: turn.rejected, message: answer,
    }, @LONG@)
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
    "session.idle": ({ sessionID }) => idle(sessionID),
    // A subagent's question is the user's to answer, too.
    "permission.asked": (p) => ask("input", p.sessionID, [p.permission, p.patterns?.[0]].filter(Boolean).join(": ")),
    "permission.replied": (p) => {
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
