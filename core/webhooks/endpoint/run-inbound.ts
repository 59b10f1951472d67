/** The ingress station's part: turns a stored hook run into an `Inbound`. */

import type { Decision, Inbound, TurnRequest } from "../../contract/index.ts";
import type { StoredEvent } from "../../state/index.ts";
import type { AbsentField } from "../mapping/absent-fields.ts";

/** `undefined` if the event is not a hook run. Wakes belong to the heartbeat. */
export function parseHookEvent(event: StoredEvent): Inbound | undefined {
  if (event.source !== "hooks" || event.kind !== "agent") return undefined;
  const body = event.body as unknown as {
    readonly request: TurnRequest;
    readonly message: string;
    readonly mapping?: unknown;
  };
  const { message } = body;
  const request = { ...body.request, hook: typeof body.mapping === "string" ? body.mapping : "agent" };
  const name = request.name ?? "Hook";
  return {
    id: event.id,
    channel: "hooks",
    account: "",
    kind: "hook",
    chat: { id: request.sessionKey ?? event.lane, kind: "system" },
    sender: { id: `hook:${name}`, name },
    text: message,
    media: [],
    mention: true,
    timestamp: event.acceptedAt,
    // Never from the body: the authority of a request was decided when it was accepted.
    authority: event.authority,
    request,
  };
}

const none: readonly never[] = [];

/** For the trace: what the templates of a delivery name and its payload does not have. */
export function absentOf({ source, body }: StoredEvent): readonly Pick<Decision, "code" | "detail" | "path">[] {
  if (source !== "hooks") return none;
  const { absent } = body as { readonly absent?: readonly AbsentField[] };
  return absent === undefined
    ? none
    : absent.map(({ detail, path }) => ({ code: "template_name_absent", detail, path }));
}
