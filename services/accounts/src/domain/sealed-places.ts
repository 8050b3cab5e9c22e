/** The place of an account's token. It is part of the seal: what was sealed for it cannot be unsealed for another. */
export function placeOfToken(accountId: string, column: "access_token" | "refresh_token") {
  return { table: "credentials", rowId: accountId, column } as const;
}

/** The place of the code verifier of an authorization; part of the seal, like that of a token. */
export function placeOfCodeVerifier(authorizationId: string) {
  return { table: "oauth_tickets", rowId: authorizationId, column: "code_verifier" } as const;
}
