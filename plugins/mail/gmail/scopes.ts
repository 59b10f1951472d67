/**
 * The permissions that the gateway requests from Google: to read mail, and to receive notifications. It never requests
 * to change or send mail.
 */
export const readScope = "https://www.googleapis.com/auth/gmail.readonly";
export const pubsubScope = "https://www.googleapis.com/auth/pubsub";
