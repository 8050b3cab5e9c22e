/** A cookie whose value only this host sets and reads. */
export interface HostCookie {
  /** Returns the first valid value; undefined when the browser sends none. */
  read(cookies: string | undefined): string | undefined;
  /** Returns the `Set-Cookie` header that stores a value. */
  write(value: string, maxAgeSeconds: number): string;
  /** Returns the `Set-Cookie` header that deletes the cookie. */
  clear(): string;
}

/**
 * The address of the gateway decides whether the cookie is secure and not the request, because
 * behind a proxy that ends TLS every request is plain http. With https the name begins with
 * `__Host-`: browsers take such a cookie only from this host, only over https and only with the
 * path `/`, so that neither another host of the domain nor an attacker on the network can plant
 * one. A browser would drop this cookie on plain http, where its name lacks the prefix.
 *
 * `SameSite=Lax` keeps the cookie from requests of other sites, except from links to a page.
 */
export function createHostCookie(options: {
  readonly name: string;
  readonly isSecure: boolean;
  /** On plain http. */
  readonly path: string;
  readonly isValid: (value: string) => boolean;
}): HostCookie {
  const { isSecure } = options;
  const name = `${isSecure ? "__Host-" : ""}${options.name}`;
  const path = isSecure ? "/" : options.path;
  const write = (value: string, maxAgeSeconds: number): string =>
    `${name}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
  return {
    read: (cookies = "") =>
      cookies
        .split(";")
        .map((cookie) => cookie.trim())
        .filter((cookie) => cookie.startsWith(`${name}=`))
        .map((cookie) => cookie.slice(name.length + 1))
        .find((value) => options.isValid(value)),
    write,
    clear: () => write("", 0),
  };
}
