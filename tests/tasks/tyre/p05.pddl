(define (problem tyre-05)
  (:domain tyre)
  (:objects
    hub1 - hub
    flat1 spare1 - wheel
    nuts1 - nuts
  )
  (:init
    (in-boot wrench)
    (in-boot jack)
    (in-boot pump)
    (tight nuts1 hub1)
    (on flat1 hub1)
    (in-boot spare1)
    (sound spare1)
  )
  (:goal (and
    (on spare1 hub1)
    (tight nuts1 hub1)
    (inflated spare1)
    (in-boot wrench)
    (in-boot jack)
    (in-boot flat1)
  )))
