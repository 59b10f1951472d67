/** The units that this process runs, and the calls for them whose results are unknown. */
import { isAwayError } from "./failure.ts";

export interface RunningUnits {
  ids(): readonly string[];
  took(unitId: string): void;
  ended(unitId: string): void;
  /**
   * Makes a call with a token, by which the database recognizes its repetition. If the database goes away and the
   * outcome is unknown, the caller's next attempt has the same token.
   */
  withToken<Result>(subject: string, call: (token: string) => Promise<Result>): Promise<Result>;
}

export function createRunningUnits(newToken: () => string): RunningUnits {
  const running = new Set<string>();
  const unknown = new Map<string, string>();
  return {
    ids: () => [...running],
    took: (unitId) => void running.add(unitId),
    ended: (unitId) => void running.delete(unitId),
    async withToken(subject, call) {
      const token = unknown.get(subject) ?? newToken();
      try {
        const result = await call(token);
        unknown.delete(subject);
        return result;
      } catch (error) {
        if (isAwayError(error)) unknown.set(subject, token);
        else unknown.delete(subject);
        throw error;
      }
    },
  };
}
