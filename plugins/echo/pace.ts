/** Splits a text into small deltas and waits between them, so that a growing preview can be seen. */

/** Pieces of about three words; joined they are the text. */
export function pieces(text: string): readonly string[] {
  return text.match(/(?:\s*\S+){1,3}\s*$|(?:\s*\S+){1,3}|\s+/gu) ?? [];
}

/** Resolves after `ms`, or rejects with the signal's reason as soon as it is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
