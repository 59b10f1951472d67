/** Where owners are asked whether a tool may run: which chats, and which of them still have room for a question. */
import type { Address, Inbound } from "../../contract/index.ts";
import type { ToolTurn } from "../../sdk/contract.ts";
import { renderTime } from "../conversation/envelope.ts";
import { type ApprovalLimits, type AskedPlace, mostAnHour } from "./approval-limits.ts";
import { tooOftenText } from "./approval-texts.ts";

const mostOwners = 5;

export interface OwnerAt {
  readonly owner: string;
  /** The owner's direct chat. */
  readonly address: Address;
}

export interface ApprovalPlacesOptions {
  readonly isOwner: (inbound: Inbound) => Promise<boolean>;
  /** The owners of an account, and where each is reached. */
  readonly ownersAt: (at: Pick<Inbound, "channel" | "account">) => Promise<readonly OwnerAt[]>;
  /** The address of `channel:chat`; `undefined` if there is no such account. */
  readonly placeAt: (place: string) => Promise<Address | undefined>;
  /** Sends a text through the outbox; of two with one key, one. */
  readonly say: (saying: { readonly address: Address; readonly text: string }, key: string) => Promise<unknown>;
}

export interface ApprovalPlaces {
  /**
   * Empty if no owner can be asked. A turn that no person has just begun asks at the place that the configuration
   * names.
   */
  of(turn: ToolTurn, place: string | undefined): Promise<readonly AskedPlace[]>;
  /** Those whose owners have not been asked too often. An owner who had enough questions is notified once. */
  withRoom(places: readonly AskedPlace[], key: string): Promise<readonly Address[]>;
}

export function createApprovalPlaces(
  options: ApprovalPlacesOptions,
  limits: Pick<ApprovalLimits, "ask">,
): ApprovalPlaces {
  return {
    async of({ inbound, to }, place) {
      const named = place === undefined ? undefined : await options.placeAt(place);
      const atNamed = named === undefined ? [] : [{ address: named, owner: named.chat, own: false }];
      const { authority, request, sender } = inbound;
      if (authority !== "channel" || (request !== undefined && named !== undefined)) return atNamed;
      if (to !== null && (await options.isOwner(inbound)))
        return [{ address: to, owner: sender.id, own: request === undefined }];
      const owners = await options.ownersAt(inbound);
      const direct = owners.slice(0, mostOwners).map((one) => ({ ...one, own: false }));
      return direct.length > 0 ? direct : atNamed;
    },
    async withRoom(places, key) {
      const open: Address[] = [];
      for (const place of places) {
        const counted = await limits.ask(place, key);
        if (counted === "asked") open.push(place.address);
        else if (counted !== "full") {
          const text = tooOftenText(mostAnHour, renderTime(counted.notice));
          await options.say({ address: place.address, text }, `approval-limit:${place.owner}:${counted.notice}`);
        }
      }
      return open;
    },
  };
}
