(define (problem tyre-06)
  (:domain tyre)
  (:objects
    hub1 - hub
    spare1 - wheel
    nuts1 - nuts
  )
  (:init
    (open)
    (have pump)
    (have spare1)
    (in-boot wrench)
    (in-boot jack)
    (tight nuts1 hub1)
    (sound spare1)
  )
  (:goal (and
    (inflated spare1)
    (in-boot pump)
    (have wrench)
  )))
