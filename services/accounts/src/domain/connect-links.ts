/** Returns the connect link: the one-time address at the gateway that a person opens to connect accounts. */
export function connectLinkOf(publicUrl: string, secret: string): string {
  return `${publicUrl}/connect/${secret}`;
}

/**
 * Returns the redirect URI: the address to which platforms send browsers back after an authorization. Each platform app
 * has to be registered with exactly this address.
 */
export function redirectUriOf(publicUrl: string): string {
  return `${publicUrl}/connect/callback`;
}
