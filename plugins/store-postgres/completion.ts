/** Lets a store close only after everything that was requested before, and refuses what comes later. */

// biome-ignore lint/suspicious/noExplicitAny: a store's methods have nothing in common but that they return promises.
type Methods<Type> = { readonly [Name in keyof Type]: (...values: any[]) => Promise<unknown> };

export interface Completion {
  /** The same methods, which reject once the store is closing. */
  guard<Type extends Methods<Type>>(methods: Type): Type;
  close(last: () => Promise<void>): Promise<void>;
}

export function createCompletion(): Completion {
  const running = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;
  return {
    guard: (methods) =>
      Object.fromEntries(
        Object.entries<(...values: unknown[]) => Promise<unknown>>(methods).map(([name, method]) => [
          name,
          (...values: unknown[]) => {
            if (closed !== undefined) return Promise.reject(new Error("The store is closed."));
            const result = method(...values);
            running.add(result);
            const forget = () => void running.delete(result);
            result.then(forget, forget);
            return result;
          },
        ]),
      ) as typeof methods,
    close(last) {
      closed ??= Promise.allSettled(running).then(last);
      return closed;
    },
  };
}
