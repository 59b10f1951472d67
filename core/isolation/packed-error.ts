/**
 * Errors between threads. Structured clone keeps only the message; these keep the fields that decide what happens next.
 */
import { ChannelError, EngineError, type ErrorCode, HostError, PluginError, reasonOf } from "../contract/index.ts";

type Details = HostError["details"];

export type PackedError =
  | ({ readonly kind: "channel"; readonly detail: string } & Fields<
      ChannelError,
      "reason" | "retryable" | "retryAfterMs" | "fate" | "migratedTo" | "hint"
    >)
  | ({ readonly kind: "engine"; readonly detail: string } & Fields<
      EngineError,
      "reason" | "retryable" | "hint" | "numbers"
    >)
  | {
      readonly kind: "plugin";
      readonly code: ErrorCode;
      readonly details: Details & { readonly plugin: string; readonly hook?: string };
    }
  | { readonly kind: "host"; readonly code: ErrorCode; readonly details: Details }
  | { readonly kind: "other"; readonly message: string; readonly code?: string; readonly status?: number };

type Fields<E, K extends keyof E> = { readonly [N in K]: E[N] };

const kinds: ReadonlySet<unknown> = new Set<PackedError["kind"]>(["channel", "engine", "plugin", "host", "other"]);

/** Whether a value of the other side has the shape of an error. */
export function isPackedError(value: unknown): value is PackedError {
  const { kind, message, reason, code, details } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (!kinds.has(kind)) return false;
  if (kind === "other") return typeof message === "string";
  if (kind === "channel" || kind === "engine") return typeof reason === "string";
  return typeof code === "string" && typeof details === "object" && details !== null;
}

export function packError(error: unknown): PackedError {
  if (error instanceof ChannelError) {
    const { reason, retryable, retryAfterMs, fate, migratedTo, hint, message } = error;
    return { kind: "channel", reason, retryable, retryAfterMs, fate, migratedTo, hint, detail: message };
  }
  if (error instanceof EngineError) {
    const { reason, retryable, hint, numbers, message } = error;
    return { kind: "engine", reason, retryable, hint, numbers, detail: message };
  }
  if (error instanceof PluginError)
    return { kind: "plugin", code: error.code, details: { ...error.details, plugin: error.plugin } };
  if (error instanceof HostError) return { kind: "host", code: error.code, details: error.details };
  const { code, status } = (error ?? {}) as { readonly code?: unknown; readonly status?: unknown };
  return {
    kind: "other",
    message: reasonOf(error),
    ...(typeof code === "string" && { code }),
    ...(typeof status === "number" && { status }),
  };
}

/** Leaves out fields that are not set. */
function given<T extends object>(fields: T): { [K in keyof T]: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** The other side may send an error that this one cannot make, such as one with an unknown code. */
export function unpackError(error: PackedError): Error {
  try {
    return unpack(error);
  } catch (failed) {
    return new Error(`it failed with an error that cannot be read: ${reasonOf(failed)}`);
  }
}

function unpack(error: PackedError): Error {
  switch (error.kind) {
    case "channel": {
      const { kind: _, reason, ...fields } = error;
      return new ChannelError(reason, given(fields));
    }
    case "engine": {
      const { kind: _, reason, ...fields } = error;
      return new EngineError(reason, fields);
    }
    case "plugin":
      return new PluginError(error.code, error.details);
    case "host":
      return new HostError(error.code, error.details);
    case "other": {
      const { message, code, status } = error;
      return Object.assign(new Error(message), { code, status });
    }
  }
}
