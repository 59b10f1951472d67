/** An owner who answers each question for an approval after a while, and what the questions became. */
import type { Platform } from "../../../plugins/playground/platform/index.ts";
import type { Random } from "../random.ts";

export interface Question {
  readonly word: string;
  readonly text: string;
  readonly isOpen: boolean;
}

export interface Owner {
  questions(): readonly Question[];
  /** Answers from now on, or no more. */
  answers(does: boolean): void;
  close(): void;
}

const lookMs = 150;
/** A press may meet a gateway that is not there. */
const againMs = 2_500;

export function createOwner(platform: Platform, id: number, random: Random): Owner {
  const due = new Map<number, number>();
  let isAnswering = true;

  const messages = () => {
    const room = [...platform.world.rooms.values()].find(({ chat }) => chat.id === id);
    return [...(room?.messages.values() ?? [])].filter(({ from }) => from?.is_bot === true);
  };
  const buttonsOf = (message: ReturnType<typeof messages>[number]) =>
    (message.reply_markup?.inline_keyboard ?? []).flat();

  const timer = setInterval(() => {
    if (!isAnswering) return;
    const now = Date.now();
    for (const message of messages()) {
      const press = buttonsOf(message).find(({ text }) => text === (random.chance(0.9) ? "Allow once" : "Deny"));
      if (press?.callback_data === undefined) continue;
      const at = due.get(message.message_id) ?? now + random.whole(0, 1_500);
      due.set(message.message_id, at);
      if (now < at) continue;
      due.set(message.message_id, now + againMs);
      try {
        platform.act.press(id, id, message.message_id, press.callback_data);
      } catch {
        // The message has just lost its buttons.
      }
    }
  }, lookMs);

  return {
    questions: () =>
      messages().flatMap((message) => {
        const text = message.text ?? "";
        const [, word] = /"word": "(\w+)"/.exec(text) ?? [];
        return word === undefined ? [] : [{ word, text, isOpen: buttonsOf(message).length > 0 }];
      }),
    answers(does) {
      isAnswering = does;
    },
    close: () => clearInterval(timer),
  };
}
