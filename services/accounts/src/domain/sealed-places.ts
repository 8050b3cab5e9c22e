/** Where a text is stored, and the values to which it is bound there. */
export interface BoundPlace {
  readonly table: string;
  readonly rowId: string;
  readonly column: string;
  readonly boundTo: Readonly<Record<string, string>>;
}

/** The account that a token belongs to, and everything that decides where the token is sent. */
export interface TokenOwner {
  readonly workspaceId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly externalId: string;
  /** Further data of the platform, for example the address of the account's server. */
  readonly attributes: Readonly<Record<string, string>>;
}

export type TokenColumn = "access_token" | "refresh_token";

/**
 * Returns the storage place of an account's token. The encryption of the token includes the place,
 * so a token cannot be decrypted after it was copied to another account, or after its account's
 * workspace, platform, external id or attributes were changed.
 */
export function placeOfToken(owner: TokenOwner, column: TokenColumn): BoundPlace {
  const { workspaceId, accountId, platform, externalId } = owner;
  // The copy is an object even if an attacker has stored `null` as the attributes in the database.
  const attributes = Object.entries({ ...owner.attributes });
  return {
    table: "credentials",
    rowId: accountId,
    column,
    boundTo: {
      workspace_id: workspaceId,
      platform,
      external_id: externalId,
      ...Object.fromEntries(attributes.map(([name, value]) => [`attributes.${name}`, value])),
    },
  };
}

/** An authorization, the browser that opened it, and the workspace that gets its accounts. */
export interface VerifierOwner {
  readonly id: string;
  readonly workspaceId: string;
  readonly platform: string;
  readonly stateHash: Uint8Array;
  readonly browserHash: Uint8Array;
}

/**
 * Returns the storage place of an authorization's PKCE code verifier. The encryption includes the
 * place, so the code verifier cannot be decrypted for another authorization, nor for another
 * workspace, platform or browser.
 */
export function placeOfCodeVerifier(owner: VerifierOwner): BoundPlace {
  const { id, workspaceId, platform, stateHash, browserHash } = owner;
  return {
    table: "authorizations",
    rowId: id,
    column: "code_verifier",
    boundTo: {
      workspace_id: workspaceId,
      platform,
      state_hash: Buffer.from(stateHash).toString("hex"),
      browser_hash: Buffer.from(browserHash).toString("hex"),
    },
  };
}
