/** A language in which the API writes messages for people. */
export type Locale = "en" | "ko";
