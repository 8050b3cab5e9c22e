import { connectEn } from "./words-en.ts";
import { connectKo } from "./words-ko.ts";

export const connectWords = { en: connectEn, ko: connectKo };
