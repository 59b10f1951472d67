/** Where the store keeps what pairing knows of a channel. */
export const pairingNamespace = (channel: string): string => `pairing:${channel}`;
