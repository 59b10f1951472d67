/** Detects secrets that can be guessed. They are reported wherever a secret protects something reachable from outside. */

/** With this many random characters from any alphabet, a brute-force attack is impractical. */
const leastSecretLength = 16;

export const weakSecret = {
  message: `has fewer than ${leastSecretLength} characters, so it can be guessed`,
  hint: "Use a long random one, such as from `openssl rand -base64 32`.",
} as const;

export const isWeakSecret = (secret: string): boolean => secret.length < leastSecretLength;
