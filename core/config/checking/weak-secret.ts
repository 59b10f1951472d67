/** Secrets that can be guessed: reported wherever a secret protects something that is reachable from outside. */

/** Random characters of which no attacker tries all, whatever the alphabet. */
const leastSecretLength = 16;

export const weakSecret = {
  message: `has fewer than ${leastSecretLength} characters, so it can be guessed`,
  hint: "Use a long random one, such as `openssl rand -base64 32` makes.",
} as const;

export const isWeakSecret = (secret: string): boolean => secret.length < leastSecretLength;
