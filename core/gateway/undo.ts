/** Steps to undo in reverse order, when a start fails half-way or the gateway closes. */
export interface Undo {
  add(undo: () => void | Promise<void>): void;
  run(): Promise<void>;
}

export function createUndo(): Undo {
  const steps: (() => void | Promise<void>)[] = [];
  return {
    add: (step) => void steps.push(step),
    async run() {
      // A failing step must not keep the others from running: the last one releases the lock of the state.
      const failures: unknown[] = [];
      for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
        try {
          await step();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}
