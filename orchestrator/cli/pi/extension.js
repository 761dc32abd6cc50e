// The extension through which pi tells paw of its turns, and through which paw gives prompts to pi. It calls `HOOK hook
// pi EVENT` with the fields of a turn.Event on standard input, one call after the other. pi waits for those at the begin and at the end of a
// turn, so that both are known before anything else happens. pi's session is a conversation here, and its run is a turn.
// pi makes a new instance of this for each conversation.
import { execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"

const hook = @HOOK@
const listens = @LISTENS@ // file of the launch: not empty while prompts are taken
const inbox = @INBOX@ // file in which paw puts a prompt, or nothing to see whether it is taken
const pause = 200 // milliseconds between two looks at the inbox

const textOf = (content) =>
  typeof content === "string" ? content : (content ?? []).filter((c) => c.type === "text").map((c) => c.text).join("\n")

const call = (event, data, seconds) => new Promise((resolve) => {
  try {
    const child = execFile(hook, ["hook", "pi", event], { timeout: seconds * 1000 }, () => resolve())
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(data))
  } catch {
    resolve()
  }
})

export default (pi) => {
  let turn // id of the turn in progress
  let typed // prompt that begins the next turn, as the user gave it
  let begun // prompt of the turn that begins
  let own = false // no user gave that prompt, but an extension
  let early = [] // prompts queued before the turn was told
  let answer // newest message of the model in the turn
  let shortens = false // pi takes no prompt meanwhile
  let looks
  let calls = Promise.resolve()

  const tell = (event, { sessionManager, cwd }, data, seconds) => {
    const all = { conversation: sessionManager.getSessionId(), transcript: sessionManager.getSessionFile(), folder: cwd, turnID: turn, ...data }
    calls = calls.then(() => call(event, all, seconds))
    return calls
  }
  const queue = (prompt, ctx) => tell("prompt", ctx, { prompt, queued: true }, @LONG@)

  // Who renames the file first has the prompt: paw takes one back that waits for too long.
  const look = () => {
    if (shortens || !existsSync(inbox)) return
    const taken = inbox + ".taken"
    try {
      renameSync(inbox, taken)
      const prompt = readFileSync(taken, "utf8")
      rmSync(taken)
      if (prompt) pi.sendUserMessage(prompt, { deliverAs: "steer" })
    } catch {}
  }

  pi.on("session_start", async ({ reason }, ctx) => {
    if (existsSync(listens)) {
      writeFileSync(listens, String(process.pid))
      looks = setInterval(look, pause)
    }
    if (reason !== "reload") await tell("session_start", ctx, { source: reason === "new" ? "clear" : reason }, @SHORT@)
  })
  pi.on("session_shutdown", async ({ reason }, ctx) => {
    clearInterval(looks)
    // The start of the next conversation says more.
    if (reason !== "reload") await tell("session_end", ctx, { source: reason === "quit" ? "exit" : "clear" }, @SHORT@)
  })

  // A prompt without a model or a key ends here: what begins a turn is agent_start, which an agent_settled follows in any case.
  // A queued one is not waited for: should the turn end meanwhile, pi would begin another one with it.
  pi.on("input", ({ text, streamingBehavior }, ctx) => {
    if (!streamingBehavior) typed = text
    else if (turn) queue(text, ctx)
    else early.push(text)
  })
  pi.on("before_agent_start", ({ messageType, prompt, message }) => {
    own = messageType === "custom"
    begun = own ? textOf(message?.content) : typed ?? prompt
    typed = undefined
  })
  pi.on("agent_start", async (_, ctx) => {
    if (turn) return // again, after an error or for a queued prompt
    turn = randomUUID()
    answer = undefined
    await tell("prompt", ctx, { prompt: begun, type: own ? "task-notification" : "" }, @LONG@)
    for (const prompt of early.splice(0)) queue(prompt, ctx)
  })
  pi.on("message_end", ({ message }) => {
    if (message.role === "assistant") answer = message
  })
  pi.on("agent_settled", async ({ aborted }, ctx) => {
    const { stopReason, errorMessage, content } = answer ?? {}
    let told
    if (aborted || stopReason === "aborted") told = tell("interrupt", ctx, {}, @LONG@)
    else if (stopReason === "error") told = tell("error", ctx, { message: errorMessage }, @LONG@)
    else told = tell("end", ctx, { message: textOf(content) }, @LONG@)
    turn = undefined
    await told
  })

  pi.on("ui_prompt_start", ({ title }, ctx) => {
    // In one line: the first one often only says that something follows.
    if (turn) tell("input", ctx, { message: title.trim().replace(/\s+/g, " ") }, @SHORT@)
  })
  pi.on("ui_prompt_end", (_, ctx) => {
    if (turn) tell("answered", ctx, {}, @SHORT@)
  })

  pi.on("session_before_compact", () => {
    shortens = true
  })
  for (const event of ["session_compact", "session_compact_failed"]) {
    pi.on(event, () => {
      shortens = false
    })
  }
}
