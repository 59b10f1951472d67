/**
 * Whether the platform answers. After a send with an unknown outcome it does not, until a call that began later has
 * succeeded. Meanwhile no preview begins: its message might remain beside the reply, because the platform cannot say
 * whether it has it.
 */
export interface Reach {
  /** A call begins; the returned function reports its success. */
  calling(): () => void;
  /** A send ended with an unknown outcome. */
  lost(): void;
  isLost(): boolean;
}

export function createReach(calling: () => () => void): Reach {
  let begun = 0;
  /** Calls that had begun at the last unknown outcome; `undefined` if a later one has succeeded. */
  let lostAt: number | undefined;
  return {
    calling() {
      const succeeded = calling();
      begun += 1;
      const number = begun;
      return () => {
        succeeded();
        if (lostAt !== undefined && number > lostAt) lostAt = undefined;
      };
    },
    lost() {
      lostAt = begun;
    },
    isLost: () => lostAt !== undefined,
  };
}
