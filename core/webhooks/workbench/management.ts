/** Routes below `/gateway/hooks/` for the command line, with the gateway token or that of a paired device. */
import { reasonOf } from "../../contract/index.ts";
import { HttpProblem } from "../../http/index.ts";
import type { RouteDefinition } from "../../sdk/contract.ts";
import type { Recordings } from "../endpoint/recordings.ts";
import { MappingFailure } from "../mapping/plan-runs.ts";
import type { Replayed } from "./replay.ts";

export interface HookManagementDeps {
  readonly recordings: Recordings;
  /** Throws `MappingFailure` and `HttpProblem`. */
  readonly replay: (eventId: string) => Promise<Replayed>;
}

export function hookRoutes({ recordings, replay }: HookManagementDeps): readonly RouteDefinition[] {
  return [
    {
      method: "GET",
      path: "/gateway/hooks/record",
      access: "device",
      async handler({ query }) {
        if (query.path === undefined || query.path === "")
          throw new HttpProblem("invalid_payload", "path is required.");
        return { events: recordings.next(query.path) };
      },
    },
    {
      method: "POST",
      path: "/gateway/hooks/replay",
      access: "device",
      async handler({ body }) {
        const { eventId } = body as { readonly eventId?: unknown };
        if (typeof eventId !== "string") throw new HttpProblem("invalid_payload", "eventId is required.");
        try {
          return { body: { ok: true, ...(await replay(eventId)) } };
        } catch (error) {
          if (!(error instanceof MappingFailure)) throw error;
          const { problem, path, hint, cause } = error;
          // The operator asks, and a failed replay is neither stored nor logged.
          const reason = cause === undefined ? problem.message : reasonOf(cause);
          return { status: problem.status, body: { ok: false, error: reason, code: problem.code, path, hint } };
        }
      },
    },
  ];
}
