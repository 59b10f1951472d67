/** Splits a text into small deltas with pauses between them, so that a growing preview is visible. */

/** Splits a text into pieces of about three words. Joined, they are the text again. */
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
