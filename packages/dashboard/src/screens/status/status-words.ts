import { statusEn } from "./words-en.ts";
import { statusKo } from "./words-ko.ts";

export const statusWords = { en: statusEn, ko: statusKo };
