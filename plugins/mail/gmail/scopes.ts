/** What the gateway asks Google for: to read mail, and to take notices. It never asks to change or to send mail. */
export const readScope = "https://www.googleapis.com/auth/gmail.readonly";
export const pubsubScope = "https://www.googleapis.com/auth/pubsub";
