/** Notices of the operator: a text that goes to an address as it is, through the path like everything else. */
import type { Address, RawEvent } from "../contract/index.ts";

export interface NoticeBody {
  readonly address: Address;
  readonly text: string;
}

/** A message from the gateway itself, such as the approval of a pairing. The stations of it stand beside those of actions. */
export function noticeEvent(notice: NoticeBody & { readonly dedupeKey?: string }): RawEvent {
  const { channel, account, chat, thread } = notice.address;
  return {
    source: "operator",
    kind: "notice",
    lane: ["notice", channel, account, chat, ...(thread === undefined ? [] : [thread])].join(":"),
    authority: "operator",
    ...(notice.dedupeKey === undefined ? {} : { dedupeKey: notice.dedupeKey }),
    body: { address: { ...notice.address }, text: notice.text },
  };
}
