/** What is undone in reverse, whether a start failed half-way or the gateway closes. */
export interface Undo {
  add(undo: () => void | Promise<void>): void;
  run(): Promise<void>;
}

export function createUndo(): Undo {
  const steps: (() => void | Promise<void>)[] = [];
  return {
    add: (step) => void steps.push(step),
    async run() {
      // A step that fails must not keep the others from being undone: the lock of the state is the last of them.
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
