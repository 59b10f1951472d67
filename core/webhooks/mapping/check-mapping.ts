/** Checks a mapping beyond what its schema can express. */

import { checkTrustedProxy } from "../../http/index.ts";
import { choicesOf } from "../runs/agent.ts";
import { type HookPolicies, sessionKeyRefusal } from "../runs/policy.ts";
import type { CompiledParts, HookSettings, MappingSource, Report, TemplateField } from "./compiled-mapping.ts";

export interface RuleContext {
  readonly hooks: HookSettings;
  readonly agents: { readonly exists: (id: string) => boolean; readonly defaultId: () => string };
  readonly channels: HookPolicies["channels"];
  readonly models: { readonly allowed: (model: string, agentId: string) => boolean };
  /** Checks the path of a transform without running it. */
  readonly checkTransform: (module: string) => { readonly message: string; readonly missing: boolean } | undefined;
}

interface MappingRuleContext extends RuleContext {
  /** Whether the schema found an error in a setting of the mapping. */
  readonly broken: (setting: readonly string[]) => boolean;
}

type Rule = (source: MappingSource, parts: CompiledParts, context: MappingRuleContext, report: Report) => void;

/** The endpoints of the hook server itself. */
export const reservedPaths: ReadonlySet<string> = new Set(["wake", "agent", "runs"]);

const checkPath: Rule = (_, { match }, context, report) => {
  if (match?.path === undefined) return;
  const [first = ""] = match.path.split("/");
  const taken = first === "runs" || (reservedPaths.has(first) && first === match.path);
  if (taken)
    report(
      ["match", "path"],
      `is ${JSON.stringify(match.path)}, an endpoint of its own: the mapping never receives a request`,
      {
        hint: "Choose another path.",
      },
    );
  else checkSpelling(match.path, context.hooks.path, report);
};

/** Reports valid paths that no request can have. */
function checkSpelling(path: string, base: string, report: Report): void {
  const written = `is ${JSON.stringify(path)}`;
  if (/^https?:\/\//i.test(path))
    report(["match", "path"], `${written}, an address`, { hint: `Write only the part after ${base}/.` });
  else if (path.includes("{{"))
    report(["match", "path"], `${written}, but is compared literally`, {
      hint: "Paths are not templates. Leave match.path out, or use match.where.",
    });
  else if (/(^|\/)\.{1,2}(\/|$)/.test(path))
    report(["match", "path"], `${written}, and clients resolve "." and ".." before they send`, {
      hint: "Write the path that is sent.",
    });
  else if (`/${path}/`.startsWith(`${base}/`))
    report(["match", "path"], `${written}, which is looked for below ${base}: the mapping takes ${base}/${path}`, {
      warning: true,
      hint: `Leave ${base} out: match.path begins after it.`,
    });
}

const checkText: Rule = ({ settings }, _, { broken }, report) => {
  const field = settings.action === "wake" ? "textTemplate" : "messageTemplate";
  if (settings[field] === undefined && settings.transform === undefined && !broken(["transform"])) {
    report([field], `is missing, and action ${settings.action} needs it`, {
      hint: "Set the text, or name a transform that returns it.",
    });
  }
};

const agentOnly = [
  "messageTemplate",
  "name",
  "agentId",
  "sessionKey",
  "sessionMode",
  "deliver",
  "channel",
  "to",
  "platform",
  "model",
  "thinking",
  "timeoutSeconds",
] as const;

/** Settings of the agent's turn and of the summary that follows it. */
const ownOfTurns = ["instructions", "model", "thinking", "timeoutSeconds", "wakeMode"] as const;

const ownOfDelivery = ["channel", "to", "platform"] as const;

/** With a transform, every field may have an effect, because the transform may change the action. */
const checkEffect: Rule = ({ settings, preset }, _, __, report) => {
  if (settings.transform !== undefined || preset !== undefined) return;
  const idle = settings.action === "wake" ? agentOnly : (["textTemplate"] as const);
  for (const field of idle) {
    if (settings[field] !== undefined)
      report([field], `has no effect with action ${settings.action}`, { warning: true });
  }
  if (settings.action === "wake") return;
  const unasked = settings.deliverOnly === true ? ownOfTurns : settings.deliver === false ? ownOfDelivery : [];
  const why = settings.deliverOnly === true ? "with deliverOnly, because no agent runs" : "with deliver: false";
  for (const field of unasked) {
    const verb = field === "instructions" ? "have" : "has";
    if (settings[field] !== undefined) report([field], `${verb} no effect ${why}`, { warning: true });
  }
};

const checkInstructions: Rule = ({ settings }, _, __, report) => {
  if (settings.instructions?.includes("{{") === true)
    report(["instructions"], "are not a template: the model receives the braces literally", {
      warning: true,
      hint: "Render parts of the payload in messageTemplate or textTemplate.",
    });
};

const checkDeliverOnly: Rule = ({ settings }, _, __, report) => {
  if (settings.deliverOnly !== true) return;
  if (settings.action === "wake")
    report(["deliverOnly"], "needs action agent: a wake is not delivered", {
      hint: "Use messageTemplate and action agent.",
    });
  if (settings.deliver === false)
    report(["deliverOnly"], "contradicts deliver: false", { hint: "Remove one of the two." });
};

const checkSignature: Rule = ({ settings }, { match }, _, report) => {
  if (settings.signature !== undefined && match !== undefined && match.path === undefined)
    report(["signature"], "needs match.path", {
      hint: "A hook with a signature or token of its own must have a path of its own.",
    });
};

const checkChallenge: Rule = ({ settings }, { match, challenge }, _, report) => {
  if (settings.challenge === undefined) return;
  const { signature, token, method } = settings;
  if (match !== undefined && match.path === undefined)
    report(["challenge"], "needs match.path", { hint: "Give the mapping the path that the platform tests." });
  if (settings.challenge.unsigned === true && signature === undefined && token === undefined)
    report(["challenge", "unsigned"], "needs signature or token", {
      hint:
        "At a path with the hook token, every POST must present it: omit unsigned, or give the mapping " +
        "a signature or token of its own.",
    });
  if (settings.challenge.show === true && signature?.secret === undefined && settings.challenge.unsigned !== true)
    report(["challenge", "show"], "never shows a value: without signature.secret, only an unsigned test is accepted", {
      hint: "Set unsigned: true, or signature.secret.",
    });
  const { value, when } = settings.challenge;
  if (challenge?.method === "GET" && method === "GET" && value === undefined && when === undefined)
    report(["challenge"], "takes every GET, so that the mapping receives none", { hint: "Set value or when." });
};

const checkMethod: Rule = ({ settings, preset }, _, __, report) => {
  if (settings.method === "GET" && settings.body !== "json" && preset === undefined)
    report(["body"], "has no effect with method GET: the payload is the query", { warning: true });
};

const checkVerifyToken: Rule = ({ settings: { signature } }, _, __, report) => {
  if (signature === undefined) return;
  const isMeta = signature.scheme === "meta";
  if (isMeta === (signature.verifyToken !== undefined)) return;
  const message = isMeta ? "is missing, so the platform's URL test gets 405" : "belongs to the scheme meta only";
  const hint = isMeta ? "Set it to the verify token of the platform's form." : "Remove it.";
  report(["signature", "verifyToken"], message, { hint, warning: true });
};

const checkAddresses: Rule = ({ settings }, _, __, report) => {
  const { addresses } = settings;
  if (addresses === undefined) return;
  if (addresses.length === 0)
    report(["addresses"], "is an empty list, which matches no client", { hint: "Omit it to allow any client." });
  for (const [index, entry] of addresses.entries()) {
    const wrong = checkTrustedProxy(entry);
    if (wrong !== undefined)
      report(["addresses", index], `is ${JSON.stringify(entry)}, but ${wrong}`, {
        hint: "Write 203.0.113.7 or 203.0.113.0/24.",
      });
  }
};

const checkTransform: Rule = ({ settings }, _, { checkTransform: check }, report) => {
  const wrong = settings.transform === undefined ? undefined : check(settings.transform.module);
  if (wrong === undefined) return;
  // The file is looked up at each request, so a file created later needs no configuration change.
  const hint = wrong.missing
    ? "Create it. Requests that need it get 500 mapping_failed until then."
    : "Name a file below the transforms directory, such as invoices/paid.ts.";
  report(["transform", "module"], wrong.message, { hint, passing: wrong.missing });
};

/** The value of a field that is the same for every delivery; `undefined` if it varies. */
function constant({ templates }: CompiledParts, field: TemplateField): string | undefined {
  const template = templates.find(([name]) => name === field)?.[1];
  return template?.isStatic === true ? template.source.trim() : undefined;
}

const checkAgent: Rule = (_, parts, { hooks, agents }, report) => {
  const named = constant(parts, "agentId");
  if (named === undefined) return;
  const known = agents.exists(named);
  const effective = known ? named : agents.defaultId();
  const allowed = hooks.allowedAgentIds;
  if (allowed !== undefined && !allowed.includes("*") && !allowed.includes(effective)) {
    const who = known
      ? JSON.stringify(named)
      : `${JSON.stringify(named)}, which is unknown, so that ${effective} would run`;
    report(["agentId"], `is ${who}; hooks.allowedAgentIds does not contain it`, {
      hint: "Add the agent there, or name another.",
    });
  } else if (!known) {
    report(["agentId"], `is ${JSON.stringify(named)}, which is not in agents.list`, {
      warning: true,
      hint: `The default agent ${effective} runs.`,
    });
  }
};

const checkModel: Rule = ({ settings }, parts, { models, agents }, report) => {
  const model = constant(parts, "model");
  const named = constant(parts, "agentId");
  // If a template sets the agent, it is known only with the delivery, and its list of models is checked then.
  if (model === undefined || (named === undefined && settings.agentId !== undefined)) return;
  const agentId = named !== undefined && agents.exists(named) ? named : agents.defaultId();
  if (models.allowed(model, agentId)) return;
  report(["model"], `is ${JSON.stringify(model)}, which is not allowed for the agent ${agentId}`, {
    hint:
      "Write provider/model or an alias. Where agents.list[].models or agents.defaults.models is set, " +
      "it must list the model.",
  });
};

const checkChannel: Rule = (_, parts, { channels }, report) => {
  const channel = constant(parts, "channel")?.toLowerCase();
  if (channel === undefined || channel === "last") return;
  if (!channels.known(channel))
    report(["channel"], `is ${JSON.stringify(channel)}, and there is no such channel`, {
      hint: `Write ${choicesOf(channels)}.`,
    });
  else if (!channels.available(channel)) {
    report(["channel"], `is ${JSON.stringify(channel)}, and no account of this channel is running`, {
      warning: true,
      hint: `Correct channels.${channel}, or add and enable it. Until then requests get 400 channel_unavailable.`,
    });
  }
};

/** The fields of a channel that is not installed are not read. */
const checkPlatform: Rule = ({ settings: { platform = {} } }, _, { channels }, report) => {
  for (const channel of Object.keys(platform)) {
    const wrong = channels.platformProblem(channel, platform);
    if (!channels.known(channel))
      report(["platform", channel], "is not a channel", { hint: `Write ${[...channels.list()].join(" or ")}.` });
    else if (wrong !== undefined) report(["platform", channel], `cannot be sent: ${wrong.replace(/\.$/, "")}`);
  }
};

const checkSession: Rule = ({ settings }, { templates }, { hooks }, report) => {
  const template = templates.find(([name]) => name === "sessionKey")?.[1];
  if (template !== undefined) {
    const prefixes = hooks.allowedSessionKeyPrefixes;
    const begin = template.isStatic ? template.source.trim() : (template.source.split("{{", 1)[0]?.trimStart() ?? "");
    const why = template.isStatic ? sessionKeyRefusal(begin, prefixes) : beginRefusal(begin, prefixes);
    if (why !== undefined)
      report(["sessionKey"], `is ${JSON.stringify(template.source)}, which ${why}`, {
        hint:
          begin === ""
            ? "hooks.allowedSessionKeyPrefixes sets how session keys begin."
            : `Add ${JSON.stringify(begin)} to hooks.allowedSessionKeyPrefixes, or remove that setting.`,
      });
  }
  if (
    settings.sessionMode === "persistent" &&
    settings.sessionKey === undefined &&
    hooks.defaultSessionKey === undefined &&
    settings.transform === undefined
  ) {
    report(["sessionMode"], "is persistent, but each run gets a session of its own", {
      warning: true,
      hint: "Set sessionKey.",
    });
  }
};

/** Checks a key whose end depends on the delivery: the refusal, if no possible end is allowed. */
function beginRefusal(begin: string, prefixes: readonly string[] | undefined): string | undefined {
  const fits =
    prefixes === undefined || prefixes.some((prefix) => begin.startsWith(prefix) || prefix.startsWith(begin));
  if (!fits) return "does not begin with an allowed prefix";
  return begin.length >= "agent:".length
    ? sessionKeyRefusal(
        begin,
        prefixes?.filter((prefix) => begin.startsWith(prefix)),
      )
    : undefined;
}

const rules: readonly Rule[] = [
  checkPath,
  checkText,
  checkEffect,
  checkInstructions,
  checkDeliverOnly,
  checkSignature,
  checkChallenge,
  checkMethod,
  checkVerifyToken,
  checkAddresses,
  checkTransform,
  checkAgent,
  checkModel,
  checkChannel,
  checkPlatform,
  checkSession,
];

export function checkMapping(
  source: MappingSource,
  parts: CompiledParts,
  context: MappingRuleContext,
  report: Report,
): void {
  for (const rule of rules) rule(source, parts, context, report);
}
