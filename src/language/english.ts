/** True for English by its primary subtag; an unknown language counts as English. */
export function isEnglish(language: string): boolean {
  return language === "" || /^en(?:-|$)/iu.test(language);
}
