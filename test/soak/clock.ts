// A clock that is wrong by an offset, for everything in the isolate. Alarms are set on the runtime's own clock, so that they are
// translated.

/** Shifts the isolate's clock by this many milliseconds. */
export function shiftClock(offset: number): void {
  const RealDate = Date;
  const now = (): number => RealDate.now() + offset;
  globalThis.Date = new Proxy(RealDate, {
    get: (target, name): unknown => (name === "now" ? now : Reflect.get(target, name, target)),
    construct(target, args: unknown[], self) {
      const date: unknown = Reflect.construct(target, args.length === 0 ? [now()] : args, self);
      if (typeof date !== "object" || date === null) throw new TypeError("A class makes objects");
      return date;
    },
    apply: () => new RealDate(now()).toString(),
  });
}

/** Makes alarms of Durable Objects fire by a shifted clock. Takes any object's storage, whose methods all of them share. */
export function shiftAlarms(storage: DurableObjectStorage, offset: number): void {
  const shared: unknown = Object.getPrototypeOf(storage);
  if (offset === 0 || typeof shared !== "object" || shared === null || "hasShiftedAlarms" in shared) return;
  const setAlarm: unknown = Reflect.get(shared, "setAlarm");
  const getAlarm: unknown = Reflect.get(shared, "getAlarm");
  if (typeof setAlarm !== "function" || typeof getAlarm !== "function") throw new Error("The storage has no alarms");
  Object.assign(shared, {
    hasShiftedAlarms: true,
    setAlarm(time: number | Date, ...options: unknown[]): unknown {
      return Reflect.apply(setAlarm, this, [Number(time) - offset, ...options]);
    },
    async getAlarm(...options: unknown[]): Promise<number | null> {
      const time: unknown = await Reflect.apply(getAlarm, this, options);
      return typeof time === "number" ? time + offset : null;
    },
  });
}
