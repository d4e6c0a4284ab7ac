(define (problem ferry-01)
  (:domain ferry)
  (:objects
    port1 port2
    car1
  )
  (:init
    (port port1)
    (port port2)
    (car car1)
    (deck-free)
    (ferry-at port1)
    (car-at car1 port1)
  )
  (:goal (and
    (car-at car1 port2)
  )))
