/** Answers the tests of a URL that the mappings of its path declare. */
import type { IncomingMessage } from "node:http";
import type { Json } from "../../contract/index.ts";
import type { HttpProblem } from "../../http/index.ts";
import type { Mapping, MappingTable } from "../mapping/compiled-mapping.ts";
import { checkBodyType, parsePayload } from "../mapping/payload.ts";
import { readQuery, visibleHeaders } from "../mapping/webhook-delivery.ts";
import type { ChallengeAnswer } from "../signature/challenge.ts";
import type { MappedTarget } from "./checks.ts";
import type { ShownChallenge } from "./shown-challenges.ts";

/** What a test asks for, before and after its body was read. */
interface Asked {
  readonly raw: IncomingMessage;
  readonly target: MappedTarget;
  readonly query: string;
}

export interface MappingChallenges {
  /** Answers a test that needs neither a body nor a credential. */
  byHeaders(asked: Asked): HttpProblem | ChallengeAnswer | undefined;
  /** Answers a test whose body was read and that no credential covers. */
  unsigned(asked: Asked, body: Buffer): HttpProblem | ChallengeAnswer | undefined;
  /** Answers a test with a valid credential. */
  verified(asked: Asked, body: Buffer): ChallengeAnswer | undefined;
}

export function createMappingChallenges(
  deps: {
    readonly mappings: () => MappingTable;
    readonly clientAddress: (request: IncomingMessage) => string;
    readonly now: () => number;
    /** A value came that a person has to copy. */
    readonly onShown?: ((shown: ShownChallenge) => void) | undefined;
  },
  { tooMany }: { readonly tooMany: (raw: IncomingMessage, target: MappedTarget) => HttpProblem | undefined },
): MappingChallenges {
  function answer(
    { raw, target, query }: Asked,
    body: Buffer | undefined,
    fits: (mapping: Mapping) => boolean,
  ): { readonly answer: ChallengeAnswer; readonly shown?: Omit<ShownChallenge, "verified"> } | undefined {
    for (const mapping of target.way.challenges) {
      const { challenge, kinds } = mapping;
      if (challenge === undefined || challenge.method !== raw.method || !fits(mapping)) continue;
      const payload = body === undefined ? {} : readPayload(kinds, raw, body);
      if (payload === undefined) continue;
      const now = deps.now();
      const found = challenge.answer({
        path: target.path,
        source: "",
        headers: visibleHeaders(raw.headers, deps.mappings().hiddenHeaders),
        query: readQuery(query),
        payload,
        now: new Date(now).toISOString(),
      });
      if (found === undefined) continue;
      const shown = { at: now, hook: mapping.id, client: deps.clientAddress(raw), value: found.value };
      return { answer: found.answer, ...(challenge.shows ? { shown } : {}) };
    }
    return undefined;
  }

  /**
   * An unsigned value is shown only while the mapping has no secret yet. Afterwards, a stranger could offer the
   * operator another one. Each counts like a failed attempt, so that a flood of them is limited.
   */
  const isOpen = ({ challenge, signedBy }: Mapping): boolean =>
    challenge?.unsigned === true && (!challenge.shows || signedBy?.signature.awaitsSecret === true);

  function unsigned(asked: Asked, body: Buffer | undefined): HttpProblem | ChallengeAnswer | undefined {
    const found = answer(
      asked,
      body,
      (mapping) => isOpen(mapping) && mapping.challenge?.needsBody === (body !== undefined),
    );
    if (found?.shown === undefined) return found?.answer;
    const limited = tooMany(asked.raw, asked.target);
    if (limited !== undefined) return limited;
    deps.onShown?.({ ...found.shown, verified: false });
    return found.answer;
  }

  return {
    byHeaders: (asked) => unsigned(asked, undefined),
    unsigned,
    verified(asked, body) {
      const found = answer(asked, body, ({ challenge }) => challenge?.unsigned === false);
      if (found?.shown !== undefined) deps.onShown?.({ ...found.shown, verified: true });
      return found?.answer;
    },
  };
}

/** `undefined` if the body cannot be read; its sender will get the error, if it is not a test. */
function readPayload(kinds: Mapping["kinds"], { headers }: IncomingMessage, body: Buffer): Json | undefined {
  const kind = kinds.find((candidate) => checkBodyType(candidate, headers) === undefined);
  try {
    return kind === undefined ? undefined : parsePayload(kind, body);
  } catch {
    return undefined;
  }
}
