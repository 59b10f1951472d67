/** Why a call has no result: the limits that it exceeded, and what its code threw. */

import { TransformError } from "../error.ts";
import type { CallLimits } from "./call-effects.ts";

export const failures = {
  computed: ({ cpuMs }: CallLimits, where: string | undefined): TransformError =>
    new TransformError("timeout", `It computed for more than ${cpuMs} ms (hooks.transforms.cpuMs)`, { where }),
  /** `verb` is what the call should have done: `load` or `answer`. */
  late: ({ timeoutMs }: CallLimits, verb: string): TransformError =>
    new TransformError("timeout", `It did not ${verb} within ${timeoutMs / 1_000} s (hooks.transforms.timeoutSeconds)`),
  stuck: (): TransformError =>
    new TransformError("timeout", "Its promise never settles: there is nothing left that it could wait for"),
  memory: (memoryMb: number): TransformError =>
    new TransformError("memory", `It used more than ${memoryMb} MB (hooks.transforms.memoryMb)`),
  stack: (): TransformError => new TransformError("threw", "RangeError: Maximum call stack size exceeded"),
  thrown({
    kind,
    text,
    stack,
    isRefusal,
  }: {
    /** `result` when the code returned what cannot be a result. */
    readonly kind: string | undefined;
    readonly text: string;
    readonly stack: string;
    readonly isRefusal: (message: string) => boolean;
  }): TransformError {
    const message = text.replace(/^TransformError: /, "");
    return new TransformError(isRefusal(message) ? "refused" : kind === "result" ? "result" : "threw", message, {
      where: stack,
    });
  },
};
