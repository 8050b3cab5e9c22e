/**
 * Returns the storage place of an account's token. The encryption (seal) of the token includes the place, so a token
 * that is copied to another place cannot be decrypted.
 */
export function placeOfToken(accountId: string, column: "access_token" | "refresh_token") {
  return { table: "credentials", rowId: accountId, column } as const;
}

/**
 * Returns the storage place of an authorization's PKCE code verifier. The encryption (seal) includes the place, so the
 * code verifier cannot be decrypted for another authorization.
 */
export function placeOfCodeVerifier(authorizationId: string) {
  return { table: "oauth_tickets", rowId: authorizationId, column: "code_verifier" } as const;
}
