import { expect, test } from "vitest";
import { createRefusedAcknowledgements } from "../../../core/agents/turn/acknowledgement.ts";
import type { GatewayConfig } from "../../../core/config/schema.ts";
import { message, route } from "./inbound.ts";

function open(config: { readonly ackReaction?: string; readonly identity?: object }, options: object = {}) {
  const warnings: unknown[] = [];
  const messages = {
    ackReactionScope: "all",
    ...(config.ackReaction === undefined ? {} : { ackReaction: config.ackReaction }),
  };
  const list = [
    { id: "other" },
    { id: "main", ...(config.identity === undefined ? {} : { identity: config.identity }) },
  ];
  const refused = createRefusedAcknowledgements({
    config: () => ({ messages, agents: { list } }) as unknown as GatewayConfig,
    optionsOf: () => options as Readonly<Record<string, unknown>>,
    pathsOf: () => (setting) => `channels.irc.${setting.join(".")}`,
    log: { warn: (fields: object, text: string) => void warnings.push({ ...fields, text }) } as never,
  });
  return { warnings, refuse: () => refused(message("hi"), route()) };
}

test.each([
  [{}, {}, "messages.ackReaction", "👀"],
  [{ ackReaction: "🦆" }, {}, "messages.ackReaction", "🦆"],
  [{ identity: { emoji: "🦉" } }, {}, "agents.list[1].identity.emoji", "🦉"],
  [{ ackReaction: "🦆", identity: { emoji: "🦉" } }, {}, "messages.ackReaction", "🦆"],
  [{ ackReaction: "🦆" }, { ackReaction: "🐌" }, "channels.irc.ackReaction", "🐌"],
])(
  "a reaction emoji that the platform refuses is reported once, with its path: %j %j",
  (config, options, path, emoji) => {
    const { warnings, refuse } = open(config, options);
    refuse();
    refuse();
    expect(warnings).toEqual([{ path, text: `irc does not accept ${emoji} as a reaction: choose another emoji` }]);
  },
);
