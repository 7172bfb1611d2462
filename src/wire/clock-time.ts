/** Formats seconds as `00:12`, from an hour on as `1:00:12`. */
export function clockTime(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (value: number): string => String(value).padStart(2, "0");
  const minutes = Math.floor(whole / 60);
  const clock = `${two(minutes % 60)}:${two(whole % 60)}`;
  return minutes < 60 ? clock : `${Math.floor(minutes / 60)}:${clock}`;
}
