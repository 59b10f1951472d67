/** Who the bot is in its workspace. */
import { type ChannelAccount, ChannelError } from "service-gateway/sdk/channel";
import type { SlackApi } from "./api.ts";
import { text } from "./fields.ts";

export interface Who {
  /** The bot as a member of the workspace. */
  readonly user: string;
  /** The same as an app. */
  readonly bot?: string;
  readonly name?: string;
  readonly team: string;
  readonly enterprise?: string;
}

export interface Identity {
  /** The last answer; a failure is not remembered. */
  who(): Promise<Who>;
  /** Asks again. */
  renew(): Promise<Who>;
}

export function createIdentity(api: SlackApi, { signal }: Pick<ChannelAccount, "signal">): Identity {
  let known: Promise<Who> | undefined;

  async function ask(): Promise<Who> {
    const me = await api.call("auth.test", {}, { signal });
    const [user, bot, team, enterprise] = [me.user_id, me.bot_id, me.team_id, me.enterprise_id].map(text);
    if (user === undefined || team === undefined)
      throw new ChannelError("bad_answer", { detail: "auth.test: the answer names no bot", retryable: true });
    const name = text(me.user);
    return {
      user,
      team,
      ...(name !== undefined && { name }),
      ...(bot !== undefined && { bot }),
      ...(enterprise !== undefined && { enterprise }),
    };
  }

  function renew(): Promise<Who> {
    known = ask().catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  }
  return { renew, who: () => known ?? renew() };
}
