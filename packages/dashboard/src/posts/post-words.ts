import { postEn } from "./words-en.ts";
import { postKo } from "./words-ko.ts";

export const postWords = { en: postEn, ko: postKo };
