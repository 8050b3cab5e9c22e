import { composeEn } from "./words-en.ts";
import { composeKo } from "./words-ko.ts";

export const composeWords = { en: composeEn, ko: composeKo };
