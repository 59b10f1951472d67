/** Notices for the operator: texts that go to an address unchanged, through the path like every other event. */
import type { Address, RawEvent } from "../contract/index.ts";

interface NoticeBody {
  readonly address: Address;
  readonly text: string;
}

/**
 * Creates the event for a message from the gateway itself, such as the approval of a pairing. The notice's taps are
 * beside those of actions.
 */
export function noticeEvent(notice: NoticeBody & { readonly dedupeKey?: string }): RawEvent {
  const { channel, account, chat, thread } = notice.address;
  return {
    source: "operator",
    kind: "notice",
    lane: ["notice", channel, account, chat, ...(thread === undefined ? [] : [thread])].join(":"),
    control: true,
    authority: "operator",
    dedupeKey: notice.dedupeKey,
    body: { address: { ...notice.address }, text: notice.text },
  };
}
