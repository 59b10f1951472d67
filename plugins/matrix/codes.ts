/** The reasons of this channel, as `service why` explains them. */
export const codes = {
  room_encrypted: {
    meaning: "The room is encrypted end to end. The bot cannot read there, and sends nothing in clear.",
    hint: "Write to the bot in a room without encryption; `channels status --probe` says what turns it on.",
  },
  invitation_refused: {
    meaning: "The bot does not follow an invitation, because the access rules do not admit the room or the person.",
    hint: "Add the id of the room to groups, or the id of the person to allowFrom. The bot then joins by itself.",
  },
  homeserver_unknown: {
    meaning: "The address does not lead to a Matrix homeserver.",
    hint: "Set homeserver to the server name of the bot's id, or to the address that Matrix clients use.",
  },
} as const;
