/** The settings of `models.speech`, and how they are named to operators. */
import { basename } from "node:path";
import type { GatewayConfig } from "../../config/index.ts";

type Speech = NonNullable<GatewayConfig["models"]["speech"]>;
type Lists<T> = T extends readonly (infer One)[] ? One : T;

/** What transcribes: a model or a program. */
export type Listener = Lists<NonNullable<Speech["in"]>>;
/** What speaks. */
export type Speaker = NonNullable<Speech["out"]>;

type Config = Pick<GatewayConfig, "models">;

/** In the order in which they are tried; empty if nothing transcribes. */
export function listenersOf({ models }: Config): readonly Listener[] {
  const listeners = models.speech?.in ?? [];
  return Array.isArray(listeners) ? listeners : [listeners as Listener];
}

/** `undefined` if nothing speaks. */
export function speakerOf({ models }: Config): Speaker | undefined {
  const speaker = models.speech?.out;
  return speaker === undefined || speaker.when === "never" ? undefined : speaker;
}

export function nameOf({ model, command = [] }: Pick<Listener, "model" | "command">): string {
  return model ?? `the program ${basename(command[0] ?? "")}`;
}

const defaultTimeoutSeconds = 120;

export const timeoutMsOf = ({ timeoutSeconds = defaultTimeoutSeconds }: Pick<Listener, "timeoutSeconds">): number =>
  timeoutSeconds * 1_000;
