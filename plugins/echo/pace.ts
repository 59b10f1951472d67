/** Splits a text into small deltas with pauses between them, so that a growing preview is visible. */

/** Splits a text into pieces of three words. Joined, they are the text again. */
export function pieces(text: string): readonly string[] {
  const end = text.trimEnd();
  // One word at a time, without the white space at the end: an expression over several words takes half a minute for
  // 4,000 letters.
  const words = end.match(/\s*\S+/gu) ?? [];
  const grouped = Array.from({ length: Math.ceil(words.length / 3) }, (_, index) =>
    words.slice(3 * index, 3 * index + 3).join(""),
  );
  const tail = text.slice(end.length);
  return tail === "" ? grouped : [...grouped.slice(0, -1), `${grouped.at(-1) ?? ""}${tail}`];
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
