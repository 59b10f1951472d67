/** What a reply may contain of the Bot API's own, by the names that it has there. Pure. */
import type { Json } from "service-gateway/sdk";
import { type Part, type Static, Type } from "service-gateway/sdk/channel";
import { bodyOf, withPayload } from "./part-body.ts";

export const platformFields = Type.Object({
  link_preview_options: Type.Optional(
    Type.Object(
      {
        is_disabled: Type.Optional(Type.Boolean({ description: "No preview, or one although linkPreview is false." })),
        url: Type.Optional(
          Type.String({
            pattern: "^https?://\\S{1,2000}$",
            expects: "an http or https address",
            description: "The link to show, which need not be in the text.",
          }),
        ),
        prefer_small_media: Type.Optional(Type.Boolean({ description: "A small picture." })),
        prefer_large_media: Type.Optional(Type.Boolean({ description: "A large picture." })),
        show_above_text: Type.Optional(Type.Boolean({ description: "Above the text." })),
      },
      { description: "How the preview of a link is shown." },
    ),
  ),
  protect_content: Type.Optional(Type.Boolean({ description: "The message can be neither forwarded nor saved." })),
  message_effect_id: Type.Optional(
    Type.String({
      pattern: "^[0-9]{1,20}$",
      expects: "the id of an effect: 1 to 20 digits in quotes",
      description: "An animation when the message is shown; in direct chats only.",
    }),
  ),
});

type OwnFields = Static<typeof platformFields>;

const omitting = (part: Part, what: string): Part => ({ ...part, omitted: [...(part.omitted ?? []), what] });

/** Ids of groups and channels are negative. An edit changes neither the protection nor the effect of a message. */
export function withOwnFields(
  parts: readonly Part[],
  { link_preview_options: preview, protect_content: isProtected, message_effect_id: effect }: OwnFields,
  { chat, isEdit }: { readonly chat: string; readonly isEdit: boolean },
): readonly Part[] {
  const isGroup = chat.startsWith("-");
  return parts.map((part, index) => {
    const { method, payload } = bodyOf(part);
    const more: Record<string, Json> = {};
    if (preview !== undefined && method === "sendMessage")
      more.link_preview_options = { ...(payload.link_preview_options as object | undefined), ...preview } as Json;
    if (isProtected === true && !isEdit) more.protect_content = true;
    if (effect !== undefined && index === 0 && !isEdit && !isGroup) more.message_effect_id = effect;
    const whole = withPayload(part, more);
    if (index > 0) return whole;
    if (isEdit && (isProtected === true || effect !== undefined))
      return omitting(whole, "protect_content and message_effect_id: an edit cannot change them");
    return effect !== undefined && isGroup ? omitting(whole, "message_effect_id: effects are for direct chats") : whole;
  });
}
