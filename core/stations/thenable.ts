/** Whether a value is a promise. Plugins may use promises of other libraries. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" && value !== null && typeof (value as { readonly then?: unknown }).then === "function"
  );
}
