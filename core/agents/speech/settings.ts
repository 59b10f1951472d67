/** The settings of `models.speech`, and how they are named to operators. */
import { basename } from "node:path";
import type { GatewayConfig } from "../../config/index.ts";
import type { Listener } from "../turn/hearing-models.ts";

type Speech = NonNullable<GatewayConfig["models"]["speech"]>;

/** What speaks. */
export type Speaker = NonNullable<Speech["out"]>;

/** `undefined` if nothing speaks. */
export function speakerOf({ models }: Pick<GatewayConfig, "models">): Speaker | undefined {
  const speaker = models.speech?.out;
  return speaker === undefined || speaker.when === "never" ? undefined : speaker;
}

export function nameOf({ model, command = [] }: Pick<Listener, "model" | "command">): string {
  return model ?? `the program ${basename(command[0] ?? "")}`;
}

const defaultTimeoutSeconds = 120;

export const timeoutMsOf = ({ timeoutSeconds = defaultTimeoutSeconds }: Pick<Listener, "timeoutSeconds">): number =>
  timeoutSeconds * 1_000;
