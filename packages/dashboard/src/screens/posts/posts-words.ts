import { postsEn } from "./words-en.ts";
import { postsKo } from "./words-ko.ts";

export const postsWords = { en: postsEn, ko: postsKo };
