/** A reply with what its platform can show: as many buttons as fit, and those fields of its own that match. */
import { fitButtons, type LiveAccount, readPlatformFields } from "../../channels/index.ts";
import type { Reply, TurnRequest } from "../../contract/index.ts";

type Platform = Pick<LiveAccount, "channel" | "capabilities" | "platformFields">;
type OnOmitted = ((what: string) => void) | undefined;

/** A reply without buttons and without such fields stays as it is. */
export function fittingReply(reply: Reply, account: Platform, onOmitted: OnOmitted): Reply {
  const fitting = reply.buttons.length === 0 ? reply : withFittingButtons(reply, account, onOmitted);
  return fitting.platform === undefined ? fitting : withOwnFields(fitting, account, onOmitted);
}

/** The reply with the fields of a platform that its webhook asks for, unless a plugin has set others. */
export function withRequestedFields(reply: Reply, request: TurnRequest | undefined): Reply {
  const { platform } = request ?? {};
  return platform === undefined || reply.platform !== undefined ? reply : { ...reply, platform };
}

/** The reply with as many buttons as the platform shows; with none if they do not fit. */
function withFittingButtons(reply: Reply, { channel, capabilities }: Platform, onOmitted: OnOmitted): Reply {
  if (typeof capabilities.buttons !== "object") return reply;
  const fitting = fitButtons(reply.buttons, capabilities.buttons);
  if ("problem" in fitting) onOmitted?.(`the buttons: ${channel} ${fitting.problem}`);
  return { ...reply, buttons: "problem" in fitting ? [] : fitting.rows };
}

/** The reply with what it contains of the platform to which it goes. */
function withOwnFields({ platform, ...reply }: Reply, account: Platform, onOmitted: OnOmitted): Reply {
  const read = readPlatformFields(platform, account);
  if ("problem" in read) onOmitted?.(read.problem);
  return "problem" in read || read.fields === undefined
    ? reply
    : { ...reply, platform: { [account.channel]: read.fields } };
}
