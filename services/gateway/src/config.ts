import { loadConfig } from "@postrider/shared/config";
import { readProcessConfig } from "@postrider/shared/service";

export function readConfig() {
  return loadConfig(process.env, (read) => ({
    ...readProcessConfig(read, "gateway", 8080),
    accountsUrl: read.url("ACCOUNTS_URL", "http://127.0.0.1:8081"),
    postsUrl: read.url("POSTS_URL", "http://127.0.0.1:8082"),
    /** Where clients reach the gateway; stands in the API description. */
    publicUrl: read.url("PUBLIC_URL", "http://127.0.0.1:8080"),
    /** Language of messages for clients that prefer none. */
    defaultLocale: read.oneOf("DEFAULT_LOCALE", ["en", "ko"], "en"),
    /** Addresses of proxies whose X-Forwarded-For is believed; empty = none. */
    trustedProxies: read.list("TRUSTED_PROXIES"),
  }));
}

export type Config = ReturnType<typeof readConfig>;
