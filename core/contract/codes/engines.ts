/** Codes of agents, engines and commands. All engines report errors of models with the same `model_` codes. */
import type { CodeTable } from "./code.ts";

export const engineCodes = {
  approval_allowed: { meaning: "An owner allowed a call of a tool.", hint: "" },
  approval_answered: {
    meaning: "An owner answered a request with a button; its message shows the answer.",
    hint: "",
    outcome: "silent",
  },
  approval_denied: { meaning: "An owner denied a call of a tool; the model read that.", hint: "" },
  approval_expired: {
    meaning: "A tool needed an owner's permission, and there was no answer within ten minutes.",
    hint: "Answer sooner, or take the tool out of `agents.*.tools.approve`.",
  },
  approval_limited: {
    meaning: "A tool needed an owner's permission, and too many questions were open, or had been asked within an hour.",
    hint:
      "Answer the open questions. A requester has at most three at a time, an owner gets at most 20 " +
      "within an hour.",
  },
  approval_unasked: {
    meaning: "A tool needs an owner's permission, and none could be asked.",
    hint: "Name an owner in `commands.ownerAllowFrom`. For turns that no person began, set `agents.*.tools.approveAt`.",
  },
  answer_too_long: {
    meaning: "The reply is longer than the maximum size.",
    hint: "Ask for a shorter reply.",
    outcome: "failed",
  },
  budget_exceeded: {
    meaning: "A budget is used up, or has no room for the next call of the model.",
    hint:
      "Read the detail: it names the setting. An owner can send /budget add; `{command} usage` shows " +
      "what was used.",
    outcome: "refused",
  },
  budget_run_exceeded: {
    meaning: "The run used up perRunTokens of its budget without finishing.",
    hint: "Ask for less at once, or raise perRunTokens.",
    outcome: "failed",
  },
  budget_unpriced: {
    meaning: "A limit in US dollars applies, and the price of the model is unknown.",
    hint: "Set models.prices for the model, or onUnpriced of the budget.",
    outcome: "failed",
  },
  command_failed: {
    meaning: "The plugin that provides the command failed.",
    hint: "Read the log lines of the plugin: `{command} logs`.",
    outcome: "failed",
  },
  command_unknown: {
    meaning: "The command does not exist.",
    hint: "Send /help for the list of commands.",
    outcome: "failed",
  },
  context_learned: {
    meaning: "The server of the model refused a request as too long; later requests are shorter.",
    hint: "Set contextTokens of the model in models.providers to what its server takes.",
  },
  context_left_out: {
    meaning: "Older messages of the conversation did not fit into the model and were left out of the request.",
    hint: "They stay stored, and are summarized after the turn. Choose a model with a larger context to keep more.",
  },
  context_summarized: {
    meaning: "The model read a summary in place of the older messages of the conversation.",
    hint: "`{command} sessions show` prints the summaries and the messages.",
  },
  denied: { meaning: "A call of a tool was not allowed; the model read that.", hint: "Read the decision before it." },
  engine_error: {
    meaning: "The engine failed with an error of its own.",
    hint: "Read the detail and the log lines of the engine's plugin.",
    outcome: "failed",
  },
  left_out: {
    meaning: "Newer events took the place of this one in a full queue.",
    hint: "Send fewer wake events.",
    outcome: "silent",
  },
  message_too_long: {
    meaning: "The message alone is larger than what the model takes.",
    hint: "Send it as a file or in parts, or choose a model with a larger context.",
    outcome: "failed",
  },
  model_busy: {
    meaning: "The model server is overloaded or limits the rate of requests.",
    hint: "Try again later.",
    away: "model",
    outcome: "failed",
  },
  model_context_full: {
    meaning: "The conversation is larger than the model's context.",
    hint: "Send /compact, choose a model with a larger context, or allow the agent fewer tools.",
    outcome: "failed",
  },
  model_cut_off: {
    meaning: "The model server ended its reply early, or the connection to it was cut.",
    hint: "Try again; check the server, and baseUrl of the provider.",
    outcome: "failed",
  },
  model_content_refused: {
    meaning: "The model server rejected the words of the request, such as by its content filter.",
    hint: "Write the message in other words, or choose another model.",
    outcome: "failed",
  },
  model_empty: {
    meaning: "The model replied with nothing, twice.",
    hint: "Try again, or choose another model.",
    outcome: "failed",
  },
  model_failed: {
    meaning: "The model server reported an error.",
    hint: "Read the detail, and the log of the server.",
    outcome: "failed",
  },
  model_garbled: {
    meaning: "The model server's reply cannot be read.",
    hint: "Check baseUrl and the kind of the provider.",
    outcome: "failed",
  },
  model_missing: { meaning: "No model is set for the agent.", hint: "Set agents.defaults.model.", outcome: "failed" },
  model_provider_invalid: {
    meaning: "The settings of the model's provider are invalid.",
    hint: "Run `{command} config validate`.",
    outcome: "failed",
  },
  model_quota: {
    meaning: "The quota or the budget at the model server is used up.",
    hint: "Check the account's billing.",
    away: "model",
    outcome: "failed",
  },
  model_refused: {
    meaning: "The model server rejected the request.",
    hint: "Read the detail; it contains the reason.",
    outcome: "failed",
  },
  model_stalled: {
    meaning: "The model server stopped sending in the middle of a reply.",
    hint: "Try again; check the server and the network.",
    away: "provider",
    outcome: "failed",
  },
  model_takes_no_files: {
    meaning: "The model cannot read files of this kind.",
    hint: "Choose a model that accepts images, or send the content as text.",
    outcome: "failed",
  },
  model_takes_no_tools: {
    meaning: "The model cannot call tools, as the configuration or its server says.",
    hint: "Choose a model that calls tools, or correct `tools` of the model in models.providers.",
    outcome: "failed",
  },
  model_tool_loop: {
    meaning: "The model kept calling tools without finishing.",
    hint: "Ask for less in one message, or raise maxSteps of the engine.",
    outcome: "failed",
  },
  model_unauthorized: {
    meaning: "The model server rejected the API key.",
    hint: "Check the key: apiKey of the provider, or its variable in the environment of the gateway.",
    outcome: "failed",
  },
  model_unavailable: {
    meaning: "The model server is not available.",
    hint: "Check the server, then try again.",
    away: "provider",
    outcome: "failed",
  },
  model_unknown: {
    meaning: "The model server does not have this model.",
    hint: "Check the model's name.",
    outcome: "failed",
  },
  model_unreachable: {
    meaning: "The model server cannot be reached.",
    hint: "Check baseUrl, the network and the proxy.",
    away: "provider",
    outcome: "failed",
  },
  not_asked: {
    meaning:
      "The reply was not delivered: the webhook sets deliver: false, or what caused the turn names no recipient.",
    hint: "",
    outcome: "silent",
  },
  outcome_unknown: {
    meaning:
      "A call of a tool was sent, such as before an interruption, and it is not known whether it took " +
      "effect. The model read that.",
    hint:
      "Look whether it took effect. After an interruption, the agent calls the tool again only after it " +
      "has read that.",
  },
  reaction_noted: { meaning: "The reaction was noted; the next turn mentions it.", hint: "", outcome: "silent" },
  reaction_to_others: {
    meaning: "The reaction is to a message that the bot did not send.",
    hint: 'Set reactionNotifications to "all" to mention such reactions.',
    outcome: "silent",
  },
  reactions_off: {
    meaning: "Reactions are switched off for this account.",
    hint: 'Set reactionNotifications to "own" or "all".',
    outcome: "silent",
  },
  reasoning_in_text: {
    meaning: "The beginning of the text was reasoning of the model, so the reply started over without it.",
    hint: "",
  },
  skill_unknown: { meaning: "The model asked for a skill that does not exist.", hint: "" },
  skill_unreadable: {
    meaning: "The file of the skill cannot be read.",
    hint: "Check the file in the agent's workspace.",
  },
  called_before: {
    meaning:
      "A call was not made: before an interruption the turn had called the tool with other arguments. The " +
      "model read that.",
    hint: "",
  },
  tool_done: { meaning: "The agent called a tool, which returned a result.", hint: "" },
  tool_failed: {
    meaning: "A tool failed; the model read the reason.",
    hint: "Read the log lines of the plugin: `{command} logs`.",
  },
  tool_recorded: {
    meaning:
      "The agent called a tool before an interruption. A turn that runs again gets the result that was recorded.",
    hint: "",
  },
  tool_unrecorded: {
    meaning: "A call was not made, because it could not be recorded first; the model read that.",
    hint: "Read the log lines around it: `{command} logs`. The state cannot be written.",
  },
  tool_error: {
    meaning: "A tool ran and reported an error, so it may have done a part; the model read the error.",
    hint: "Read the log lines of the plugin: `{command} logs`.",
  },
  tool_refused: {
    meaning: "A tool did not do what it was asked; the model read the reason.",
    hint: "Read the log lines of the plugin.",
  },
  tool_source_down: {
    meaning: "The turn needs tools whose source is not available.",
    hint: "Read the detail; the plugin that offers the tools says more: `{command} status`.",
    outcome: "failed",
  },
  waits_for_model: {
    meaning:
      "The model does not answer, and no person watches the turn: it waits, and runs when the model answers again.",
    hint: "Look at the model server: `{command} doctor`. agents.defaults.patienceHours says how long such turns wait.",
  },
  tool_timeout: {
    meaning:
      "A tool did not answer in time, and it is not known whether it did what it was asked; the model read that.",
    hint: "Read the log lines of the plugin: `{command} logs`.",
  },
  tool_unreadable: {
    meaning: "A tool ran, but its result cannot be read; the model read that.",
    hint: "Read the log lines of the plugin: `{command} logs`.",
  },
} as const satisfies CodeTable;
