/** Runs tasks one after the other, in the order in which they come. */
export interface Queue {
  /** Resolves or rejects with the task. A task that fails does not keep the next one from running. */
  add<T>(task: () => Promise<T>): Promise<T>;
}

export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  return {
    add(task) {
      const next = last.then(task);
      last = next.catch(() => {});
      return next;
    },
  };
}
