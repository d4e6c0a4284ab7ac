(define (problem tyre-01)
  (:domain tyre)
  (:objects
    hub1 - hub
    flat1 - wheel
    nuts1 - nuts
  )
  (:init
    (in-boot wrench)
    (tight nuts1 hub1)
    (on flat1 hub1)
  )
  (:goal (and
    (loose nuts1 hub1)
    (in-boot wrench)
  )))
