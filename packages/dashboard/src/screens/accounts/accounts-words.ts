import { accountsEn } from "./words-en.ts";
import { accountsKo } from "./words-ko.ts";

export const accountsWords = { en: accountsEn, ko: accountsKo };
